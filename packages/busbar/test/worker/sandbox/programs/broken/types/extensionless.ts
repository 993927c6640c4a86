import { a } from './store'
export default a
