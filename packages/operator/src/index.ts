export { type OperatorFacts, operatorControllers } from './controllers.ts';
export { ensureDigestKey } from './digest-key.ts';
export { referenceKinds } from './gather.ts';
export { keepHeapSmall } from './heap.ts';
export { type PolicyRule, permissionsOf } from './permissions.ts';
export { answerLimit, type Http, type HttpAnswer, type HttpCall } from './records/http.ts';
export { type RecordsWorld, runRecords } from './records/run.ts';
export { type OperatorOptions, runOperator } from './run-operator.ts';
