import { serve } from './serve.js'

serve((_, res) => res.writeHead(500).end('no'))
