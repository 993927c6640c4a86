import { service } from 'busbar/contract'

class Base {
  inherited() {
    return 'of Base'
  }
}

class Calculator extends Base {
  total = 0
  add(a: number, b: number) {
    this.total += a + b
    return this.total
  }
  _secret() {
    return 'no'
  }
}

export const calc = service.from('calc', () => new Calculator())
