export { calc as default } from './contract.ts'
