#if HTTP
  import NIOCore
  import NIOHTTP1

  /// Ends a connection whose response has a status below 100, which HTTP does not have.
  ///
  /// AsyncHTTPClient 1.37 treats such a status as informational, and ends the process when a body follows.
  final class StatusGuard: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    private var isRefused = false

    /// Adds a guard to a new connection, between the parser and the client.
    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
      channel.eventLoop.submit {
        let pipeline = channel.pipeline.syncOperations
        let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        try pipeline.addHandler(StatusGuard(), position: .after(parser))
      }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if case .head(let head) = unwrapInboundIn(data), head.status.code < 100 {
        isRefused = true
        context.fireErrorCaught(HTTPParserError.invalidStatus)
        context.close(promise: nil)
      }
      if !isRefused { context.fireChannelRead(data) }
    }
  }
#endif
