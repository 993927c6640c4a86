/** Messages in JSON, as bytes. What protobufjs would drop or convert to zero is an error here. */
import protobuf from 'protobufjs'

/** In base64. Throws an error with a message for the user. */
export function encodeMessage(type: protobuf.Type, value: unknown): string {
  return Buffer.from(type.encode(type.fromObject(toFields(type, value, type.name))).finish()).toString('base64')
}

/** The value with the field names of the file, since JSON may have them in camel case. */
function toFields(type: protobuf.Type, value: unknown, at: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${at} needs an object with the fields of the message ${type.name}`)
  // Those of Google have a JSON form of their own.
  if (type.fullName.startsWith('.google.protobuf.')) return value as Record<string, unknown>
  const fields = new Map(
    type.fieldsArray.flatMap((field) => [field.name, camel(field.name)].map((name) => [name, field] as const)),
  )
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => {
      const field = fields.get(name)
      if (field === undefined) {
        const known = type.fieldsArray.map((one) => one.name).join(', ') || 'none'
        throw new Error(`${at} has no field "${name}"; its fields: ${known}`)
      }
      return [field.name, toField(field, part, `${at}.${name}`)]
    }),
  )
}

function toField(field: protobuf.Field, value: unknown, at: string): unknown {
  if (value === null) return value
  if (field.map) {
    if (typeof value !== 'object' || Array.isArray(value)) throw new Error(`${at} needs an object`)
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, toValue(field, each, `${at}.${key}`)]))
  }
  if (!field.repeated) return toValue(field, value, at)
  if (!Array.isArray(value)) throw new Error(`${at} needs a list`)
  return value.map((each, index) => toValue(field, each, `${at}[${index}]`))
}

function toValue({ resolvedType, type }: protobuf.Field, value: unknown, at: string): unknown {
  if (resolvedType instanceof protobuf.Type) return toFields(resolvedType, value, at)
  if (resolvedType !== null) {
    const { values } = resolvedType
    const isKnown = typeof value === 'string' ? Object.hasOwn(values, value) : Number.isInteger(value)
    if (!isKnown) throw new Error(`${at} needs one of ${Object.keys(values).join(', ')}`)
  } else if (type === 'string' || type === 'bytes') {
    if (typeof value !== 'string') throw new Error(`${at} needs ${type === 'string' ? 'a text' : 'bytes in base64'}`)
  } else if (type === 'bool') {
    if (typeof value !== 'boolean') throw new Error(`${at} needs true or false`)
  } else checkNumber(type, value, at)
  return value
}

/** JSON has large integers, and what is no number, as text. */
function checkNumber(type: string, value: unknown, at: string): void {
  const isReal = type === 'double' || type === 'float'
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  const isGood = isReal
    ? typeof number === 'number' && (!Number.isNaN(number) || value === 'NaN')
    : Number.isInteger(number)
  if (!isGood)
    throw new Error(`${at} needs ${isReal ? 'a number' : 'an integer'} (${type}), not ${JSON.stringify(value)}`)
}

function camel(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
