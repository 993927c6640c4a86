import { openDatabase } from '../store/database.ts'
import { cartOn } from './service.ts'

export default cartOn(openDatabase)
