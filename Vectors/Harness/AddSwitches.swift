// Gives every refusing condition in a copy of the reader's sources a switch of its own, and lists them:
//   add-switches SOURCES >LIST          number, file:line and text of each, with tabs between
// Switch N is on where the environment's REMOVED_CHECK is N: then the condition refuses nothing.
import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

/// The files that read, wherever they lie; of files that do more, the declarations that read.
let files: [String: Set<String>?] = [
  "ByteReader": nil, "Extension": nil, "Manifest": nil, "StoredSlot": nil, "Snapshot": nil,
  "JournalFrame": nil, "LoadedGroup": nil, "GroupContent": ["init", "stage", "policyChange"], "Record": ["init"],
  "ValueKind": ["fitsUnwiped"], "ValueCipher": ["open"], "Unlocked": ["open"], "VaultInfo": ["init"], "Padding": nil,
  "Sealer": nil,
  "AuditItem": nil, "AuditHeader": ["init", "open"], "AuditBody": nil, "AuditFrame": ["init"],
  "VaultPin": ["init"], "PublicPoint": ["init", "isBelowPrime", "hasSmallOrder"], "HolderKeys": ["init", "key"],
  "KeyText": ["parse", "value"],
  "Name": ["isValid", "isPrintable", "isUTF8"], "VaultState": ["init"], "PassphraseCost": ["isAcceptable"],
]

/// Declarations whose expressions are the answer, without a `return`.
let answers: Set<String> = ["isAcceptable", "fitsUnwiped", "isWhole", "hasHeader"]
/// What a declaration needs where its switch has refused nothing.
let instead = ["isUTF8": "; length = 1"]
/// What a second byte of UTF-8 may be at all.
let widest = "0x80...0xBF"

/// Finds the conditions of one file and what to put before and behind each.
final class Switches: SyntaxVisitor {
  struct Check { let start, end: Int, text, before, behind: String }

  private(set) var checks: [Check] = []
  /// The declarations that are wanted, and those that the file has.
  private let wanted: Set<String>?
  private var known: Set<String> = []
  private var declarations: [String] = []

  /// What is wanted, and not there.
  var missing: Set<String> { wanted?.subtracting(known) ?? [] }

  init(in wanted: Set<String>?) {
    self.wanted = wanted
    super.init(viewMode: .sourceAccurate)
  }

  // MARK: Switches

  private func add(_ node: some SyntaxProtocol, _ before: String, _ behind: String, as text: String? = nil) {
    if let wanted, wanted.isDisjoint(with: declarations) { return }
    let (start, end) = (node.positionAfterSkippingLeadingTrivia, node.endPositionBeforeTrailingTrivia)
    let words = (text ?? node.trimmedDescription).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    checks.append(Check(start: start.utf8Offset, end: end.utf8Offset, text: words, before: before, behind: behind))
  }

  /// A condition that must hold: each part of a conjunction gets its switch.
  private func addHolding(_ condition: ExprSyntax) {
    for part in parts(of: condition, between: "&&") { add(part, "((", ") || removed(#))") }
  }

  /// A condition that must not hold: each part of a disjunction.
  private func addRefusing(_ condition: ExprSyntax) {
    for part in parts(of: condition, between: "||") { add(part, "((", ") && !removed(#))") }
  }

  private func addStatement(_ statement: some SyntaxProtocol, as text: String? = nil, then rest: String = "") {
    add(statement, "if !removed(#) { ", " }" + rest, as: text)
  }

  private func parts(of expression: ExprSyntax, between name: String) -> [ExprSyntax] {
    guard let infix = expression.as(InfixOperatorExprSyntax.self), infix.name == name else { return [expression] }
    return parts(of: infix.leftOperand, between: name) + parts(of: infix.rightOperand, between: name)
  }

  // MARK: Conditions

  override func visit(_ node: GuardStmtSyntax) -> SyntaxVisitorContinueKind {
    guard node.body.statements.contains(where: { $0.refuses || $0.answers("nil") }) else { return .visitChildren }
    for case .expression(let condition) in node.conditions.map(\.condition) { addHolding(condition) }
    return .visitChildren
  }

  override func visit(_ node: IfExprSyntax) -> SyntaxVisitorContinueKind {
    if node.body.statements.first?.refuses == true, case .expression(let last) = node.conditions.last?.condition {
      addRefusing(last)
    }
    return .visitChildren
  }

  override func visit(_ node: ForStmtSyntax) -> SyntaxVisitorContinueKind {
    guard let condition = node.whereClause?.condition, let first = node.body.statements.first else {
      return .visitChildren
    }
    if first.refuses { addRefusing(condition) }
    if first.answers("true") { addHolding(condition) }
    return .visitChildren
  }

  override func visit(_ node: SwitchCaseSyntax) -> SyntaxVisitorContinueKind {
    if case .default = node.label, let first = node.statements.first, first.refuses {
      addStatement(first.item, as: "default: \(first.trimmedDescription)", then: instead[declarations.last ?? ""] ?? "")
    }
    return .visitChildren
  }

  // What is done afterwards answers nothing.
  override func visit(_: DeferStmtSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

  override func visit(_ node: ReturnStmtSyntax) -> SyntaxVisitorContinueKind {
    if let answer = node.expression { addAnswer(answer) }
    return .visitChildren
  }

  /// An answer that is a condition, or nil where one does not hold.
  private func addAnswer(_ answer: ExprSyntax) {
    if let ternary = answer.as(TernaryExprSyntax.self), ternary.elseExpression.is(NilLiteralExprSyntax.self) {
      addHolding(ternary.condition)
    } else if let infix = (answer.as(UnsafeExprSyntax.self)?.expression ?? answer).as(InfixOperatorExprSyntax.self),
      ["==", "!=", "<=", ">=", "<", ">", "&&", "||"].contains(infix.name)
    {
      addHolding(answer)
    }
  }

  override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
    guard case .expr(let expression) = node.item else { return .visitChildren }
    if let call = expression.as(TryExprSyntax.self)?.expression.as(FunctionCallExprSyntax.self) {
      let name =
        call.calledExpression.as(MemberAccessExprSyntax.self)?.declName
        ?? call.calledExpression.as(DeclReferenceExprSyntax.self)
      // A statement that does nothing but check.
      if let name, ["check", "finish"].contains(name.baseName.text) { addStatement(expression) }
    }
    if let name = declarations.last, answers.contains(name), !expression.is(SwitchExprSyntax.self),
      !expression.is(BooleanLiteralExprSyntax.self)
    {
      addHolding(expression)
    }
    return .visitChildren
  }

  override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
    if node.operator.is(AssignmentExprSyntax.self) {
      // A range that is narrower than the widest because of the byte before.
      let values = node.rightOperand.as(TupleExprSyntax.self)?.elements.map(\.expression) ?? [node.rightOperand]
      for value in values where value.as(InfixOperatorExprSyntax.self)?.name == "..." {
        add(value, "(removed(#) ? \(widest) : ", ")")
      }
    } else if node.name == "|" {
      // The test of eight bytes at a time: each of the masks that it joins.
      for mask in parts(of: ExprSyntax(node), between: "|") { add(mask, "(removed(#) ? 0 : ", ")") }
      return .skipChildren
    }
    return .visitChildren
  }

  // MARK: Where we are

  private func enter(_ name: String) -> SyntaxVisitorContinueKind {
    declarations.append(name)
    known.insert(name)
    return .visitChildren
  }
  override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind { enter(node.name.text) }
  override func visitPost(_: FunctionDeclSyntax) { declarations.removeLast() }
  override func visit(_: InitializerDeclSyntax) -> SyntaxVisitorContinueKind { enter("init") }
  override func visitPost(_: InitializerDeclSyntax) { declarations.removeLast() }
  override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
    enter(node.bindings.first?.pattern.trimmedDescription ?? "")
  }
  override func visitPost(_: VariableDeclSyntax) { declarations.removeLast() }
}

extension InfixOperatorExprSyntax {
  var name: String { `operator`.trimmedDescription }
}

extension CodeBlockItemSyntax {
  /// Whether this throws, or returns false.
  var refuses: Bool { item.is(ThrowStmtSyntax.self) || answers("false") }

  func answers(_ text: String) -> Bool { item.as(ReturnStmtSyntax.self)?.expression?.trimmedDescription == text }
}

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("add-switches: \(message)\n".utf8))
  exit(70)
}

guard CommandLine.arguments.count == 2 else { fail("usage: add-switches SOURCES") }
let sources = URL(fileURLWithPath: CommandLine.arguments[1])
let paths = try FileManager.default.subpathsOfDirectory(atPath: sources.path).sorted()
let modules = ["VaultCore", "VaultSealing"]
var number = 0
for (name, declarations) in files.sorted(by: { $0.key < $1.key }) {
  let places = paths.filter { path in
    path.hasSuffix("/\(name).swift") && modules.contains { path.hasPrefix($0 + "/") }
  }
  guard places.count == 1 else { fail("\(places.count) files are named \(name).swift") }
  let file = sources.appendingPathComponent(places[0])
  let text = try String(contentsOf: file, encoding: .utf8)
  let tree = OperatorTable.standardOperators.foldAll(Parser.parse(source: text)) { _ in }
  let lines = SourceLocationConverter(fileName: places[0], tree: tree)
  let switches = Switches(in: declarations)
  switches.walk(tree)
  if let name = switches.missing.first { fail("\(places[0]) has no declaration named \(name)") }
  if switches.checks.isEmpty { fail("\(places[0]) checks nothing any more") }
  // At one place, what ends goes before what begins, and the inner of two ends before the outer.
  var insertions: [(at: Int, order: Int, text: String)] = []
  for check in switches.checks.sorted(by: { ($0.start, -$0.end) < ($1.start, -$1.end) }) {
    number += 1
    print(
      number, "\(places[0]):\(lines.location(for: AbsolutePosition(utf8Offset: check.start)).line)", check.text,
      separator: "\t")
    insertions.append((check.start, number, check.before.replacingOccurrences(of: "#", with: "\(number)")))
    insertions.append((check.end, -number, check.behind.replacingOccurrences(of: "#", with: "\(number)")))
  }
  var bytes = Array(text.utf8)
  for insertion in insertions.sorted(by: { ($0.at, $0.order) > ($1.at, $1.order) }) {
    bytes.insert(contentsOf: Array(insertion.text.utf8), at: insertion.at)
  }
  try Data(bytes).write(to: file)
}
for module in modules {
  let text = """
    internal import Glibc

    private let removedCheck = getenv("REMOVED_CHECK").map { atoi($0) } ?? 0

    /// Whether the check of this number refuses nothing in this run.
    func removed(_ number: Int32) -> Bool { number == removedCheck }

    """
  try text.write(to: sources.appendingPathComponent("\(module)/Removed.swift"), atomically: true, encoding: .utf8)
}
