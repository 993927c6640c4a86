import { nothing } from './store.ts'
