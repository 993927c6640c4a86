/** Unary calls of a `.proto` file. */
import protobuf from 'protobufjs'
import type { LoadRequest } from '../engine/job.ts'
import { encodeMessage } from './json-message.ts'

export interface ProtoCall {
  /** The path of its requests, such as `/rpz.ItemService/GetItem`. */
  readonly path: string
  /** A request with this input. Throws an error with a message for the user. */
  readonly request: (input: unknown) => LoadRequest
  /** The bytes of an output, in base64. */
  readonly output: (output: unknown) => string
}

/** Throws an error with a message for the user. `name`: `package.Service/Method`. */
export function protoCall(file: string, name: string): ProtoCall {
  const { root, service, method } = findMethod(load(file), file, name)
  const [input, output] = [root.lookupType(method.requestType), root.lookupType(method.responseType)]
  const path = `/${service.fullName.slice(1)}/${method.name}`
  return {
    path,
    request: (value) => ({ path, message: encodeMessage(input, value) }),
    output: (value) => encodeMessage(output, value),
  }
}

function load(file: string): protobuf.Root {
  try {
    const root = new protobuf.Root().loadSync(file, { keepCase: true })
    root.resolveAll()
    return root
  } catch (error) {
    throw new Error(`${file} cannot be read as a .proto file: ${(error as Error).message}`, { cause: error })
  }
}

interface Found {
  readonly root: protobuf.Root
  readonly service: protobuf.Service
  readonly method: protobuf.Method
}

function findMethod(root: protobuf.Root, file: string, name: string): Found {
  const at = name.lastIndexOf('/')
  const services = servicesIn(root)
  const service = services.find((each) => [each.fullName.slice(1), each.name].includes(name.slice(0, at)))
  if (at < 0 || service === undefined) {
    const known = services.flatMap((each) => each.methodsArray.map((one) => `${each.fullName.slice(1)}/${one.name}`))
    const there = known.length === 0 ? 'it has no service' : `it has ${known.join(', ')}`
    throw new Error(`--call needs package.Service/Method, and "${name}" is not in ${file}: ${there}`)
  }
  const method = service.methods[name.slice(at + 1)]
  if (method === undefined) {
    const known = Object.keys(service.methods).join(', ')
    throw new Error(`${service.fullName.slice(1)} has no method "${name.slice(at + 1)}"; it has ${known}`)
  }
  if (method.requestStream === true || method.responseStream === true)
    throw new Error(`--call supports unary methods, and ${name} is a stream`)
  method.resolve()
  return { root, service, method }
}

function servicesIn(space: protobuf.NamespaceBase): protobuf.Service[] {
  return space.nestedArray.flatMap((each) => {
    if (each instanceof protobuf.Service) return [each]
    return each instanceof protobuf.Namespace ? servicesIn(each) : []
  })
}
