/**
 * The parts of OpenAPI 3.1 that are used here. Everything else in a program's document is passed on
 * unchanged.
 */
export interface OpenApiDocument {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly servers?: readonly { readonly url: string }[]
  readonly tags?: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, PathItem>>
  readonly components?: Components
  /** What the document could not express, and what merging changed, as sentences. */
  readonly 'x-busbar-notes'?: readonly string[]
}

/** By kind, such as `schemas`, then by name. */
export type Components = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Operations by lower-case verb, and what they share. */
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

/**
 * Extension of an operation: its path without the service's name, which works too; see
 * `http/mapping/method-routes.ts`.
 */
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
