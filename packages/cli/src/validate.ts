export function validateCommand(): void {}
