export { type ControllerFacts, operatorControllers } from './controllers.ts';
export { keepHeapSmall } from './heap.ts';
export { type PolicyRule, permissionsOf, useNodes } from './permissions.ts';
export { answerLimit, type Http, type HttpAnswer, type HttpCall } from './records/http.ts';
export { type RecordsWorld, runRecords } from './records/run.ts';
export { runCountServers, type ServerCount, serversExist } from './records/servers.ts';
export { type OperatorOptions, runOperator } from './run-operator.ts';
export { untilDefinitionsMatch } from './served-definitions.ts';
