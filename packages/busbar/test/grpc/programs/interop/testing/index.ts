import { testing } from './contract.ts'

const answerOf = (size: number) => ({ payload: { type: 0, body: new Uint8Array(size) } })

export default testing.implement({
  emptyCall: () => undefined,
  unaryCall: ({ responseSize }) => answerOf(responseSize),
  async *streamingOutputCall({ responseParameters }) {
    for (const { size } of responseParameters) yield answerOf(size)
  },
  async streamingInputCall(values) {
    let aggregatedPayloadSize = 0
    for await (const { payload } of values) aggregatedPayloadSize += payload.body.length
    return { aggregatedPayloadSize }
  },
  async *fullDuplexCall(values) {
    for await (const { responseParameters } of values) for (const { size } of responseParameters) yield answerOf(size)
  },
})
