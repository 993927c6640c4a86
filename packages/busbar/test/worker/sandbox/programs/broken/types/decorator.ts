function logged(target: unknown): void {}

@logged
class A {}
export default A
