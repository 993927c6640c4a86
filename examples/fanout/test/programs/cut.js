// The connection ends within a chunked body.
import { serve } from './serve.js'

serve((_, res) => res.write('{"service":"node3"', () => res.destroy()))
