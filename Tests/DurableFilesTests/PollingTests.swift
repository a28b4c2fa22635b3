import Testing
@testable import DurableFiles

struct PollingTests {
  @Test func `a look that is under way at the end starts no further ones`() {
    weak var ended: Polling?
    do {
      let polling = Polling {}
      ended = polling
      polling.end()
      polling.need(true)
    }
    // A thread that looks would hold it.
    #expect(ended == nil)
  }
}
