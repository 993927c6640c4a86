/** As much of OpenAPI 3.1 as is written and read here; whatever else a program's document has is passed on as it is. */
export interface OpenApiDocument {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly servers?: readonly { readonly url: string }[]
  readonly tags?: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, PathItem>>
  readonly components?: Components
  /** What the document could not say, and what merging did to it: sentences for people. */
  readonly 'x-busbar-notes'?: readonly string[]
}

/** By kind, such as `schemas`, then by name. */
export type Components = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Operations by their verb in small letters, and what they have in common. */
export type PathItem = Readonly<Record<string, unknown>>

export type JsonSchema = Readonly<Record<string, unknown>>

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly schema?: JsonSchema
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>
  readonly style?: 'form'
  readonly explode?: boolean
}

/** Of an operation: the path without the service's name, which leads to it as well; see `http/paths.ts`. */
export const shortPath = 'x-busbar-short-path'

export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary?: string
  readonly description?: string
  readonly security?: readonly object[]
  readonly parameters: readonly (Parameter | { readonly $ref: string })[]
  readonly requestBody?: object
  readonly responses: Readonly<Record<string, object>>
  readonly [shortPath]?: string
}
