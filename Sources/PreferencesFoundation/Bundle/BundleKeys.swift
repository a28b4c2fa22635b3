public import Preferences

/// The keys of an Info.plist that Core Foundation reads, and those that Xcode writes about itself.
// The names are Apple's.
// swift-format-ignore: AlwaysUseLowerCamelCase
public enum CoreFoundationKeys: String, Sendable, CaseIterable {
  case CFAppleHelpAnchor
  case CFBundleAllowMixedLocalizations
  case CFBundleDevelopmentRegion
  case CFBundleDisplayName
  case CFBundleDocumentTypes
  case CFBundleExecutable
  case CFBundleHelpBookFolder
  case CFBundleHelpBookName
  case CFBundleIconFile
  case CFBundleIconFiles
  case CFBundleIcons
  case CFBundleIdentifier
  case CFBundleInfoDictionaryVersion
  case CFBundleLocalizations
  case CFBundleName
  case CFBundlePackageType
  case CFBundleShortVersionString
  case CFBundleSignature
  case CFBundleSpokenName
  case CFBundleURLTypes
  case CFBundleVersion
  case CFPlugInDynamicRegisterFunction
  case CFPlugInDynamicRegistration
  case CFPlugInFactories
  case CFPlugInTypes
  case CFPlugInUnloadFunction
  case DTCompiler
  case DTPlatformBuild
  case DTPlatformName
  case DTPlatformVersion
  case DTSDKBuild
  case DTSDKName
  case DTXcode
  case DTXcodeBuild
}

/// The keys of an Info.plist that Launch Services read.
// swift-format-ignore: AlwaysUseLowerCamelCase
public enum LaunchServicesKeys: String, Sendable, CaseIterable {
  case LSApplicationCategoryType
  case LSApplicationQueriesSchemes
  case LSArchitecturePriority
  case LSBackgroundOnly
  case LSEnvironment
  case LSFileQuarantineEnabled
  case LSFileQuarantineExcludedPathPatterns
  case LSGetAppDiedEvents
  case LSMinimumSystemVersion
  case LSMinimumSystemVersionByArchitecture
  case LSMultipleInstancesProhibited
  case LSRequiresIPhoneOS
  case LSRequiresNativeExecution
  case LSSupportsOpeningDocumentsInPlace
  case LSUIElement
  case LSUIPresentationMode
  case LSVisibleInClassic
}

extension BundlePreferences {
  /// The value of a key of Core Foundation, of any kind; `nil` if it is absent. A failure is reported to
  /// ``Preferences/PreferenceFailures`` and reads as `nil`.
  public subscript(key: CoreFoundationKeys) -> PreferenceValue? { self[key.rawValue] }

  /// The value of a key of Launch Services, of any kind; `nil` if it is absent. A failure is reported as with keys of
  /// Core Foundation.
  public subscript(key: LaunchServicesKeys) -> PreferenceValue? { self[key.rawValue] }
}

extension PreferenceKey<String?> {
  /// The short name of a bundle.
  public static var bundleName: Self { Self(CoreFoundationKeys.CFBundleName.rawValue) }
  /// The name of a bundle that people see.
  public static var bundleDisplayName: Self { Self(CoreFoundationKeys.CFBundleDisplayName.rawValue) }
  /// The identifier of a bundle, such as `com.example.shop`.
  public static var bundleIdentifier: Self { Self(CoreFoundationKeys.CFBundleIdentifier.rawValue) }
  /// The version of a bundle for people, such as `2.1`.
  public static var bundleShortVersion: Self { Self(CoreFoundationKeys.CFBundleShortVersionString.rawValue) }
  /// The version of a bundle's build.
  public static var bundleVersion: Self { Self(CoreFoundationKeys.CFBundleVersion.rawValue) }
  /// The name of a bundle's executable file.
  public static var bundleExecutable: Self { Self(CoreFoundationKeys.CFBundleExecutable.rawValue) }
}
