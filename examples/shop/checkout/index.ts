import { openDatabase } from '../store/database.ts'
import { checkoutOn } from './service.ts'

export default checkoutOn(openDatabase)
