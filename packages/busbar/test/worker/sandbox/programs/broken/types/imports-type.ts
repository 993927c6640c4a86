import { Shape } from './shape.ts'

export default (): Shape => ({})
