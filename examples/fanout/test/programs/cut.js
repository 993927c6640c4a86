// The connection ends amid a body in chunks.
import { serve } from './serve.js'

serve((_, res) => res.write('{"service":"node3"', () => res.destroy()))
