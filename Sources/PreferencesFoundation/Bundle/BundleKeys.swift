public import Preferences

/// The keys of an Info.plist that Core Foundation reads, and those that Xcode writes about itself.
// The names are Apple's.
// swift-format-ignore: AlwaysUseLowerCamelCase
public enum CoreFoundationKeys: String, Sendable, CaseIterable {
  /// The name of the HTML file with the initial page of the help.
  case CFAppleHelpAnchor
  /// Whether the bundle may use localised strings of the frameworks it loads.
  case CFBundleAllowMixedLocalizations
  /// The language of the text that is not localised.
  case CFBundleDevelopmentRegion
  /// The name of the bundle that people see.
  case CFBundleDisplayName
  /// The types of documents that the program opens.
  case CFBundleDocumentTypes
  /// The name of the executable file.
  case CFBundleExecutable
  /// The folder of the help files.
  case CFBundleHelpBookFolder
  /// The name of the help book.
  case CFBundleHelpBookName
  /// The file of the icon.
  case CFBundleIconFile
  /// The files of the icon in several sizes.
  case CFBundleIconFiles
  /// The icons of the bundle, for each use.
  case CFBundleIcons
  /// The identifier of the bundle, such as `com.example.shop`.
  case CFBundleIdentifier
  /// The version of the format of the Info.plist.
  case CFBundleInfoDictionaryVersion
  /// The languages of a program that handles its localised resources itself.
  case CFBundleLocalizations
  /// The short name of the bundle.
  case CFBundleName
  /// The four-letter code of the type of bundle, such as `APPL`.
  case CFBundlePackageType
  /// The version for people, such as `2.1`.
  case CFBundleShortVersionString
  /// The four-letter code of the creator.
  case CFBundleSignature
  /// The name that is spoken instead of the displayed name.
  case CFBundleSpokenName
  /// The schemes of URLs that the program opens.
  case CFBundleURLTypes
  /// The version of the build.
  case CFBundleVersion
  /// The function that registers a plug-in when it is loaded.
  case CFPlugInDynamicRegisterFunction
  /// Whether a plug-in is registered by a function when it is loaded.
  case CFPlugInDynamicRegistration
  /// The functions that create instances of a plug-in, by identifier.
  case CFPlugInFactories
  /// The factories of each type that a plug-in implements.
  case CFPlugInTypes
  /// The function that is called when a plug-in is unloaded.
  case CFPlugInUnloadFunction
  /// The compiler that built the program. Xcode writes it.
  case DTCompiler
  /// The build of the platform that the program was built for. Xcode writes it.
  case DTPlatformBuild
  /// The name of the platform that the program was built for. Xcode writes it.
  case DTPlatformName
  /// The version of the platform that the program was built for. Xcode writes it.
  case DTPlatformVersion
  /// The build of the SDK. Xcode writes it.
  case DTSDKBuild
  /// The name of the SDK. Xcode writes it.
  case DTSDKName
  /// The version of Xcode. Xcode writes it.
  case DTXcode
  /// The build of Xcode. Xcode writes it.
  case DTXcodeBuild
}

/// The keys of an Info.plist that Launch Services read.
// swift-format-ignore: AlwaysUseLowerCamelCase
public enum LaunchServicesKeys: String, Sendable, CaseIterable {
  /// The category of the program, such as `public.app-category.utilities`.
  case LSApplicationCategoryType
  /// The schemes of URLs for which the program may check whether another program opens them.
  case LSApplicationQueriesSchemes
  /// The architectures that the program supports, in order of preference.
  case LSArchitecturePriority
  /// Whether the program runs in the background only.
  case LSBackgroundOnly
  /// The environment variables that are set when the program is launched.
  case LSEnvironment
  /// Whether files that the program creates are quarantined.
  case LSFileQuarantineEnabled
  /// The paths of files that are not quarantined.
  case LSFileQuarantineExcludedPathPatterns
  /// Whether the program is notified when a program that it launched ends.
  case LSGetAppDiedEvents
  /// The earliest version of the system that the program runs on.
  case LSMinimumSystemVersion
  /// The earliest version of the system for each architecture.
  case LSMinimumSystemVersionByArchitecture
  /// Whether the program may run only once at a time.
  case LSMultipleInstancesProhibited
  /// Whether the program runs only on iOS.
  case LSRequiresIPhoneOS
  /// Whether the program must run without translation of its architecture.
  case LSRequiresNativeExecution
  /// Whether the program opens documents where they are, without a copy.
  case LSSupportsOpeningDocumentsInPlace
  /// Whether the program runs without an icon in the Dock.
  case LSUIElement
  /// Which parts of the system's interface are shown when the program is launched.
  case LSUIPresentationMode
  /// Whether the program was visible to programs of the Classic environment.
  case LSVisibleInClassic
}

extension BundlePreferences {
  /// The value of a key of Core Foundation, of any kind; `nil` if it is absent. A failure is reported to
  /// ``PreferenceFailures`` and reads as `nil`.
  public subscript(key: CoreFoundationKeys) -> PreferenceValue? { self[key.rawValue] }

  /// The value of a key of Core Foundation as the type that the context requires; `nil` if it is absent. A failure,
  /// such as a value of a different type, is reported to ``PreferenceFailures`` and reads as `nil`.
  public subscript<Value: PreferenceConvertible>(key: CoreFoundationKeys) -> Value? { self[key.rawValue] }

  /// The value of a key of Launch Services, of any kind; `nil` if it is absent. A failure is reported as with keys of
  /// Core Foundation.
  public subscript(key: LaunchServicesKeys) -> PreferenceValue? { self[key.rawValue] }

  /// The value of a key of Launch Services as the type that the context requires; otherwise as with keys of Core
  /// Foundation.
  public subscript<Value: PreferenceConvertible>(key: LaunchServicesKeys) -> Value? { self[key.rawValue] }
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
