import { openDatabase } from '../store/database.ts'
import { catalogOn } from './service.ts'

export default catalogOn(openDatabase)
