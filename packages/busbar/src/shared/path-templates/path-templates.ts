import createRouter, { type HTTPMethod, type HTTPVersion, type Instance } from 'find-my-way'
import { KnownTemplates, readTemplate, type ServiceTemplates } from './known-templates.ts'

/** One template of a service: the same object at each call that matches it. */
export interface PathTemplate {
  /** As the program, the contract or the config writes it. */
  readonly path: string
}

interface Matcher {
  /** Of templates with a method. */
  readonly ofMethods: Router
  /** Of templates for all methods, as those of GET. */
  readonly ofAny: Router
}

type Router = Instance<HTTPVersion.V1>

/**
 * Finds the template that the path of a call matches. Takes 0.1 to 0.3 µs for a service that has
 * templates.
 */
export class PathTemplates {
  readonly #known = new KnownTemplates()
  readonly #matchers = new Map<string, Matcher>()

  /** Returns those that were not known. One that no path can match stays without effect. */
  add(templates: ServiceTemplates): readonly string[] {
    const added = this.#known.add(templates)
    if (added.length === 0) return added
    const { service } = templates
    const matcher = this.#matchers.get(service) ?? newMatcher()
    this.#matchers.set(service, matcher)
    for (const text of added) addTo(matcher, text)
    return added
  }

  /**
   * `url`: the path as the service gets it, with or without a query. Undefined if no template
   * matches.
   */
  find(service: string, method: string, url: string): PathTemplate | undefined {
    const matcher = this.#matchers.get(service)
    if (matcher === undefined) return undefined
    const found = matcher.ofMethods.find(method as HTTPMethod, url) ?? matcher.ofAny.find('GET', url)
    return found?.store as PathTemplate | undefined
  }

  /** Whether the service has any. */
  has(service: string): boolean {
    return this.#matchers.has(service)
  }
}

/** Fastify's own router, so its templates mean what they mean there. */
function newRouter(): Router {
  return createRouter({ ignoreTrailingSlash: true, maxParamLength: 1000, querystringParser: () => noQuery })
}

const noQuery = {}

/** True if paths can match it. */
export function isTemplate(text: string): boolean {
  return readTemplate(text) !== undefined && addTo(newMatcher(), text)
}

function newMatcher(): Matcher {
  return { ofMethods: newRouter(), ofAny: newRouter() }
}

/**
 * False for the same pattern under other names, and for one of another syntax. Its calls are not
 * distinguished.
 */
function addTo({ ofMethods, ofAny }: Matcher, text: string): boolean {
  const { method, path } = readTemplate(text)!
  const template: PathTemplate = { path }
  const patterns = patternsOf(path)
  try {
    for (const pattern of patterns)
      if (method === undefined) ofAny.on('GET', pattern, noHandler, template)
      else ofMethods.on(method as HTTPMethod, pattern, noHandler, template)
    return patterns.length > 0
  } catch {
    return false
  }
}

function noHandler(): void {}

/** Each doubles the number of patterns. */
const maxOptional = 3

/**
 * As `find-my-way` writes them: `{id}` of OpenAPI and of contracts is `:id`, `*rest` of Express 5
 * is `*`, and what may be left out (`{/:id}`) makes two patterns.
 */
function patternsOf(path: string): readonly string[] {
  const optional = path.match(/\{\/[^{}]*\}/g) ?? []
  if (optional.length > maxOptional) return []
  const patterns = withAndWithout(path, optional).map((one) => one.replace(/\{(\w+)\}/g, ':$1').replace(/\*\w+$/, '*'))
  if (patterns.some((one) => unnamedParameter.test(one))) return []
  // `/:a` and `/:b` match the same paths.
  return [...new Map(patterns.map((one) => [one.replace(/:\w+/g, ':'), one])).values()]
}

function withAndWithout(path: string, optional: readonly string[]): readonly string[] {
  const [first, ...others] = optional
  if (first === undefined) return [path === '' ? '/' : path]
  return [path.replace(first, ''), path.replace(first, first.slice(1, -1))].flatMap((one) =>
    withAndWithout(one, others),
  )
}

/** A doubled colon is text. */
const unnamedParameter = /(?<!:):(?![\w:])/
