import type { ResponseHead } from '../mesh/http/exchange.ts'

/** The fields of an answer 103 as Node's response takes them: each link by itself, since it refuses several in one text. */
export function readHints(headers: ResponseHead['headers']): Record<string, string | string[]> {
  const { link, ...others } = headers
  return link === undefined ? others : { link: linksIn([link].flat().join(', ')), ...others }
}

/** A comma ends a link (RFC 8288, 3) unless it is in the target or in quotes. */
function linksIn(text: string): string[] {
  const links = text.match(/(?:<[^<>]*>|"[^"]*"|[^,<"])+/g) ?? []
  return links.map((one) => one.trim()).filter((one) => one !== '')
}
