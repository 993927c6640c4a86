/** The labels of metrics as attributes of OpenTelemetry's semantic conventions. */
import type { Attributes } from '@opentelemetry/api'

/** By label. What the conventions do not know begins with `busbar.`, as in spans. */
export const attributeNames: Readonly<Record<string, string>> = {
  service: 'busbar.service',
  worker: 'busbar.worker',
  name: 'busbar.worker.name',
  kind: 'busbar.worker.kind',
  caller: 'busbar.caller',
  transport: 'busbar.transport',
  server_address: 'server.address',
  error_type: 'error.type',
  http_request_method: 'http.request.method',
  http_route: 'http.route',
  http_response_status_code: 'http.response.status_code',
  rpc_system_name: 'rpc.system.name',
  rpc_method: 'rpc.method',
  rpc_response_status_code: 'rpc.response.status_code',
  cpu_mode: 'cpu.mode',
  nodejs_eventloop_state: 'nodejs.eventloop.state',
  v8js_heap_space_name: 'v8js.heap.space.name',
  v8js_gc_type: 'v8js.gc.type',
}

const statusCode = 'http.response.status_code'
/** Stands for methods that are counted together. */
const manyMethods = '*'

/** By the conventions, an attribute that does not apply is absent. */
export function attributesBy(labels: Attributes): Attributes {
  const attributes: Attributes = {}
  for (const [label, value] of Object.entries(labels)) {
    const name = attributeNames[label] ?? label
    if (typeof value !== 'string' || value === '') continue
    if (name === statusCode) Object.assign(attributes, statusAttribute(value))
    else attributes[name] = name === 'http.request.method' && value === manyMethods ? '_OTHER' : value
  }
  return attributes
}

/** The conventions have only numbers. Statuses that are counted together, as `4xx`, have none. */
function statusAttribute(value: string): Attributes {
  const code = Number(value)
  return Number.isInteger(code) ? { [statusCode]: code } : { 'busbar.status_class': value }
}
