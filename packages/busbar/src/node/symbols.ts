/** Some of Node's objects keep state under symbols that can only be found by their description. */
export function symbolNamed(owner: object, description: string): symbol | undefined {
  return Object.getOwnPropertySymbols(owner).find((symbol) => symbol.description === description)
}
