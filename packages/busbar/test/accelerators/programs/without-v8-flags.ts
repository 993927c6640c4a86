/** Loaded before the command: a Node in which V8's flags cannot be set. */
import v8 from 'node:v8'

v8.setFlagsFromString = () => {
  throw new Error('not here')
}
