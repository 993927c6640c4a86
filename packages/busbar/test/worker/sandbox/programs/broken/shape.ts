export interface Shape {}
