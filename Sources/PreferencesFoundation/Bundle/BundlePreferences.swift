public import Foundation
public import Preferences

/// Preferences from the Info.plist of a bundle, read-only: its identifier, its version, whatever was put there.
///
/// ```swift
/// try BundlePreferences.main.string(forKey: "CFBundleShortVersionString")
/// BundlePreferences.main[.CFBundleName]
/// @ReadPreference(.bundleIdentifier, in: .bundle) var identifier
/// ```
///
/// Every value has the type that the file gives it. The keys are those of its top level; what a bundle says in other
/// languages elsewhere is not looked up. The file is read when this is created, and later changes are not seen.
public struct BundlePreferences: PreferencesReader {
  public let name: String
  private let info: Result<DictionaryPreferences, PreferencesError>

  /// Reads the Info.plist of `bundle`.
  ///
  /// One without, as around a plain executable, has no values: every read is nil. What keeps the file from being read
  /// is thrown by every read.
  public init(_ bundle: Bundle) {
    name = "bundle \(bundle.bundlePath)"
    info = Result { () throws(PreferencesError) in try Self.info(of: bundle.bundlePath) ?? [:] }
  }

  /// Reads the Info.plist of the bundle whose folder is at `path`.
  ///
  /// - Throws: ``Preferences/PreferencesError/Code/notFound`` when it has none, and as
  ///   ``Preferences/DictionaryPreferences/init(contentsOf:format:)``.
  public init(at path: String) throws(PreferencesError) {
    name = "bundle \(path)"
    guard let info = try Self.info(of: path) else {
      throw PreferencesError(.notFound, "\(name): there is no Info.plist")
    }
    self.info = .success(info)
  }

  /// The Info.plist of the program's own bundle. A plain executable has one when an Info.plist lies in its folder.
  public static let main = BundlePreferences(Bundle.main)

  /// - Throws: ``Preferences/PreferencesError/Code/invalidKey``, and what kept the file from being read.
  public func value(forKey key: String) throws(PreferencesError) -> PreferenceValue? {
    try info.get().value(forKey: key)
  }

  /// The keys in ascending order.
  /// - Throws: what kept the file from being read.
  public func keys() throws(PreferencesError) -> [String] { try info.get().keys() }

  /// Where Foundation looks, in its order: a bundle with `Contents`, a framework, a flat bundle.
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
