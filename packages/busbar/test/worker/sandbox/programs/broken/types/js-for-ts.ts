import { a } from './store.js'
export default a
