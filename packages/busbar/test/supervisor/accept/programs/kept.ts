import { fn, service, type } from 'busbar/contract'

const kept = service('kept', { hello: fn({ output: type<string>(), http: 'GET /' }) })

export default kept.implement({ hello: () => 'hello' })
