import fibonacci from '../fibonacci.ts'
import { computing } from './contract.ts'

export default computing.implement({ fibonacci: (n) => fibonacci(n) })
