public import Foundation
public import Preferences

/// Read-only preferences from the Info.plist of a bundle: its identifier, its version and any other entry.
///
/// ```swift
/// try BundlePreferences.main.string(forKey: "CFBundleShortVersionString")
/// BundlePreferences.main[.CFBundleName]
/// @ReadPreference(.bundleIdentifier, in: .bundle) var identifier
/// ```
///
/// Every value has its type in the file. Only keys of the top level are looked up. Localised values in other files are
/// not looked up. The file is read once, at creation, and later changes are not seen.
public struct BundlePreferences: PreferencesReader {
  public let name: String
  private let info: Result<DictionaryPreferences, PreferencesError>

  /// Reads the Info.plist of `bundle`.
  ///
  /// A bundle without an Info.plist, such as the bundle of a plain executable, has no values: every read returns `nil`.
  /// If the file cannot be read, every read throws the error.
  public init(_ bundle: Bundle) {
    name = "bundle \(bundle.bundlePath)"
    info = Result { () throws(PreferencesError) in try Self.info(of: bundle.bundlePath) ?? [:] }
  }

  /// Reads the Info.plist of the bundle whose folder is at `path`.
  ///
  /// - Throws: ``PreferencesError/Code/notFound`` if there is none, and the codes of
  ///   ``DictionaryPreferences/init(contentsOf:format:)``.
  public init(at path: String) throws(PreferencesError) {
    name = "bundle \(path)"
    guard let info = try Self.info(of: path) else {
      throw PreferencesError(.notFound, "\(name): there is no Info.plist")
    }
    self.info = .success(info)
  }

  /// The Info.plist of the program's own bundle. A plain executable has one if its folder contains an Info.plist.
  public static let main = BundlePreferences(Bundle.main)

  /// - Throws: the error of reading the file.
  public func value(for query: PreferenceQuery) throws(PreferencesError) -> PreferenceValue? {
    try info.get().value(for: query)
  }

  /// The names in ascending order.
  /// - Throws: the error of reading the file.
  public func names(of secrecy: Secrecy) throws(PreferencesError) -> [PreferenceName] {
    try info.get().names(of: secrecy)
  }

  /// Searches where Foundation does, in its order: a bundle with `Contents`, a framework, a flat bundle.
  private static func info(of folder: String) throws(PreferencesError) -> DictionaryPreferences? {
    for place in ["Contents", "Resources", "."] {
      do {
        return try DictionaryPreferences(contentsOf: "\(folder)/\(place)/Info.plist", format: PropertyListFormat())
      } catch { if error.code != .notFound { throw error } }
    }
    return nil
  }
}

extension PreferencesReader where Self == BundlePreferences {
  /// The Info.plist of the program's own bundle.
  public static var bundle: Self { .main }
}

extension BundlePreferences: CustomStringConvertible, CustomReflectable {}
