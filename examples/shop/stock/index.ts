import { openDatabase } from '../store/database.ts'
import { stockOn } from './service.ts'

export default stockOn(openDatabase)
