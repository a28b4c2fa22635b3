/// The entities of XML and HTML that stand for one character of ASCII, Latin-1 or typography.
enum HTMLEntities {
  static func isInName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "#"): true
    default: false
    }
  }

  /// The character of a name, or of a number after `#`.
  static func scalar(named name: some Collection<UInt8>) -> Unicode.Scalar? {
    guard name.first == UInt8(ascii: "#") else { return name.count > 8 ? nil : scalars[word(name)] }
    let digits = name.dropFirst()
    let isHexadecimal = digits.first.map { $0 | 0x20 } == UInt8(ascii: "x")
    let base: UInt32 = isHexadecimal ? 16 : 10
    var number: UInt32?
    for digit in isHexadecimal ? digits.dropFirst() : digits {
      guard let value = hexadecimal(digit), value < base, number ?? 0 < 0x110000 else { return nil }
      number = (number ?? 0) * base + UInt32(value)
    }
    return number.flatMap(Unicode.Scalar.init)
  }

  /// The bytes of a name as a number, because a string of them could not be wiped.
  private static func word(_ name: some Collection<UInt8>) -> UInt64 { name.reduce(0) { $0 << 8 | UInt64($1) } }

  private static let scalars: [UInt64: Unicode.Scalar] = {
    var scalars: [UInt64: Unicode.Scalar] = [:]
    for (name, scalar) in ascii + typography { scalars[word(Array(name.utf8))] = scalar }
    for (offset, name) in latin.split(whereSeparator: \.isWhitespace).enumerated() {
      scalars[word(Array(name.utf8))] = Unicode.Scalar(UInt8(0xA0 + offset))
    }
    return scalars
  }()

  private static let ascii: [(String, Unicode.Scalar)] = [
    ("Tab", "\t"), ("NewLine", "\n"), ("excl", "!"), ("quot", "\""), ("QUOT", "\""), ("num", "#"), ("dollar", "$"),
    ("percnt", "%"), ("amp", "&"), ("AMP", "&"), ("apos", "'"), ("lpar", "("), ("rpar", ")"), ("ast", "*"),
    ("midast", "*"), ("plus", "+"), ("comma", ","), ("period", "."), ("sol", "/"), ("colon", ":"), ("semi", ";"),
    ("lt", "<"), ("LT", "<"), ("equals", "="), ("gt", ">"), ("GT", ">"), ("quest", "?"), ("commat", "@"),
    ("lsqb", "["), ("lbrack", "["), ("bsol", "\\"), ("rsqb", "]"), ("rbrack", "]"), ("Hat", "^"), ("lowbar", "_"),
    ("UnderBar", "_"), ("grave", "`"), ("lcub", "{"), ("lbrace", "{"), ("verbar", "|"), ("vert", "|"),
    ("VerLine", "|"), ("rcub", "}"), ("rbrace", "}"),
  ]

  private static let typography: [(String, Unicode.Scalar)] = [
    ("euro", "€"), ("ndash", "–"), ("mdash", "—"), ("lsquo", "‘"), ("rsquo", "’"), ("ldquo", "“"), ("rdquo", "”"),
    ("hellip", "…"), ("bull", "•"), ("trade", "™"),
  ]

  /// Those of U+00A0 to U+00FF, in this order.
  private static let latin = """
    nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro \
    para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil \
    Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave \
    Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml \
    igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute \
    thorn yuml
    """

  /// All names, for tests.
  static var names: [String] {
    (ascii + typography).map(\.0) + latin.split(whereSeparator: \.isWhitespace).map(String.init)
  }
}
