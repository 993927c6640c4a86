/** The lines of Node that Busbar is tested with; `engines` of the package names the same. */
export const testedNodes: readonly number[] = [24, 26]
