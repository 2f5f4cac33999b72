/** Make-believe processes: models of the real programs of an OpenStack cloud, as they behave in reality. */
export { openstackImages } from './images.ts';
export { type OutsideHost, sshServer } from './infrastructure/ansible.ts';
export { offeredBy, openScreen } from './infrastructure/vnc.ts';
export { type OptionRead, optionReads } from './oslo/config.ts';
export { imageName } from './recipe.ts';
export { baseCommands } from './shell/system-commands.ts';
export { connectTls } from './tls.ts';
