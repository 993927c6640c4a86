// Answers for another service.
import { serve } from './serve.js'

serve((_, res) => res.end('{"service":"type1"}'))
