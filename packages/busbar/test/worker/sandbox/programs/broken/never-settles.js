export default new Promise(() => {})
