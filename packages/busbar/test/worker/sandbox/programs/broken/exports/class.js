export default class Application {}
