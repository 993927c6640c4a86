export const a = 1
export const b = ;
