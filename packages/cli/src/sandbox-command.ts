export function sandboxCommand(): void {}
