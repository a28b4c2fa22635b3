import FoundationEssentials
import Preferences
import Testing

struct LaunchArgumentPreferencesTests {
  @Test(arguments: [
    (["--server.port", "8080"], "8080"), (["--server.port=8080"], "8080"), (["-server.port", "8080"], "8080"),
    (["-server.port=8080"], "8080"), (["--server.port", "-5"], "-5"), (["--server.port", "-.5"], "-.5"),
    (["--server.port=a=b"], "a=b"), (["--server.port="], ""), (["--server.port", "1", "--server.port", "2"], "2"),
    (["--server.port"], "true"), (["--server.port", "--other"], "true"), (["file", "--server.port", "1", "file"], "1"),
    (["--server.port", "-"], "-"), (["--server.port=--x"], "--x"), (["-v", "--server.port", "é 🦊"], "é 🦊"),
  ])
  func `an option has the text that was given`(arguments: [String], text: String) throws {
    #expect(try LaunchArgumentPreferences(arguments).value(forKey: "server.port") == .string(text))
  }

  @Test func `a replacement character that was given is text`() throws {
    #expect(try LaunchArgumentPreferences(["--a=\u{FFFD}"]).value(forKey: "a") == "\u{FFFD}")
  }

  @Test(arguments: [
    ["server.port", "1"], ["--", "--server.port", "1"], ["---server.port", "1"], ["--other", "server.port"],
  ])
  func `what is no option is absent`(arguments: [String]) throws {
    #expect(try LaunchArgumentPreferences(arguments).value(forKey: "server.port") == nil)
  }

  @Test func `item 19: texts are read as the kind that is wanted`() throws {
    let layer = LaunchArgumentPreferences([
      "--yes", "--no=NO", "--on=on", "--zero", "0", "--int", "-12", "--unsigned=18446744073709551615", "--real=1.5",
      "--date=2024-01-02T03:04:05Z", "--url=https://a.example/?b", "--data=AQI=", "--text=text",
    ])
    #expect(try layer.bool(forKey: "yes") == true)
    #expect(try layer.bool(forKey: "no") == false)
    #expect(try layer.bool(forKey: "on") == true)
    #expect(try layer.bool(forKey: "zero") == false)
    #expect(try layer.integer(forKey: "zero") == 0)
    #expect(try layer.integer(forKey: "int") == -12)
    #expect(try layer.value(for: PreferenceKey<UInt64>("unsigned", default: 0)) == .max)
    #expect(try layer.double(forKey: "real") == 1.5)
    #expect(try layer.date(forKey: "date") == Date(timeIntervalSince1970: 1_704_164_645))
    #expect(try layer.url(forKey: "url")?.absoluteString == "https://a.example/?b")
    #expect(try layer.data(forKey: "data") == Data([1, 2]))
    for read in [
      { _ = try layer.bool(forKey: "text") }, { _ = try layer.integer(forKey: "text") },
      { _ = try layer.integer(forKey: "real") }, { _ = try layer.date(forKey: "text") },
    ] as [() throws -> Void] {
      #expect(preferencesError(read)?.code == .typeMismatch)
    }
  }

  @Test func `item 19: the layer is read-only`() {
    let layer: any PreferencesReader = LaunchArgumentPreferences([])
    #expect(!(layer is any PreferencesStore))
  }

  @Test func `item 19: the environment is read-only and reads the same words`() throws {
    let layer: any PreferencesReader = EnvironmentPreferences(environment: ["A": "yes", "B": "0", "C": "1.5"])
    #expect(!(layer is any PreferencesStore))
    #expect(try layer.bool(forKey: "a") == true)
    #expect(try layer.bool(forKey: "b") == false)
    #expect(try layer.integer(forKey: "b") == 0)
    #expect(try layer.double(forKey: "c") == 1.5)
  }

  @Test func `the keys are the names of the options`() throws {
    #expect(try LaunchArgumentPreferences(["--b", "1", "-a", "--b=2", "--=x", "file"]).keys() == ["a", "b"])
  }

  @Test func `without arguments the arguments of the process are read`() throws {
    let expected = LaunchArgumentPreferences(Array(CommandLine.arguments.dropFirst()))
    #expect(try LaunchArgumentPreferences().keys() == expected.keys())
  }

  @Test func `neither description, dump nor error shows a text`() throws {
    let layer = LaunchArgumentPreferences(["--k=\(sentinel)"])
    #expect(!dumped(layer).contains(sentinel))
    #expect(try #require(preferencesError { _ = try layer.bool(forKey: "k") }).description.contains(sentinel) == false)
  }
}
