export const state: { count: number } = { count: 0 }
