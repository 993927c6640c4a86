/** Before the command in a Node that lets nobody set flags of V8. */
import v8 from 'node:v8'

v8.setFlagsFromString = () => {
  throw new Error('not here')
}
