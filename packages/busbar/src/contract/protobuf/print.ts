import { dependenciesOf, jsonNameOf } from './descriptors.ts'
import { type Field, fieldTypeText, type Message, type ProtoFile, type Rpc } from './model.ts'

/** The file as text, which `protoc` and `buf` read. */
export function printProto(file: ProtoFile): string {
  const imports = dependenciesOf(file).map((path) => `import "${path}";\n`)
  const parts = [
    'syntax = "proto3";\n',
    `package ${file.package};\n`,
    ...(imports.length > 0 ? [imports.join('')] : []),
    serviceText(file),
    ...[...file.messages.values()].map(messageText),
  ]
  return parts.join('\n')
}

function serviceText({ package: name, service, methods, docs }: ProtoFile): string {
  const rpcNames = new Set(methods.map((rpc) => rpc.name))
  // Within a service the name of a method hides a message of that name.
  const typeOf = (message: string): string => (rpcNames.has(message) ? `.${name}.${message}` : message)
  const rpcs = methods.map((rpc) => `${comment(rpc.docs, '  ')}  ${rpcText(rpc, typeOf)}\n`)
  return `${comment(docs, '')}service ${service} {${block(rpcs)}}\n`
}

function rpcText(
  { name, request, response, clientStreams, serverStreams }: Rpc,
  typeOf: (message: string) => string,
): string {
  const from = `${clientStreams ? 'stream ' : ''}${typeOf(request)}`
  const to = `${serverStreams ? 'stream ' : ''}${typeOf(response)}`
  return `rpc ${name}(${from}) returns (${to});`
}

function messageText({ name, fields, removed = [], docs }: Message): string {
  const sorted = fields.toSorted((one, other) => one.number - other.number)
  const reserved =
    removed.length === 0
      ? []
      : [
          `  reserved ${removed.map(({ number }) => number).join(', ')};\n`,
          `  reserved ${removed.map((one) => JSON.stringify(one.name)).join(', ')};\n`,
        ]
  return `${comment(docs, '')}message ${name} {${block([...reserved, ...sorted.map(fieldText)])}}\n`
}

function fieldText(field: Field): string {
  const jsonName = jsonNameOf(field)
  const options = jsonName === undefined ? '' : ` [json_name = ${JSON.stringify(jsonName)}]`
  return `${comment(field.docs, '  ')}  ${fieldTypeText(field)} ${field.name} = ${field.number}${options};\n`
}

function block(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `\n${lines.join('')}`
}

function comment(docs: string | undefined, indent: string): string {
  if (docs === undefined || docs === '') return ''
  return docs
    .split(/\r?\n/)
    .map((line) => `${indent}// ${line}`.trimEnd() + '\n')
    .join('')
}
