export default () => ({ not: 'a server' })
