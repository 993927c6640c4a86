/** The release lines of Node that Busbar is tested with, as in `engines` of the package. */
export const testedNodes: readonly number[] = [24, 26]
