export { Shape } from './shape.ts'
