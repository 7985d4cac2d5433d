// Admission: which plugins run, and the settings that reach outside. The plugins' names are in config/admission-plugins.ts.
import { ADMISSION_PLUGINS, BUILT_ADMISSION_PLUGINS } from '../admission-plugins.ts';
import { optionGroup, SERVER } from './option.ts';

const PLUGINS = ADMISSION_PLUGINS.map(({ name }) => name);

export const admissionOptions = optionGroup('Admission', SERVER, [
  {
    name: 'enable-admission-plugins',
    type: 'list',
    values: PLUGINS,
    valuesInForce: BUILT_ADMISSION_PLUGINS,
    description: 'Admission plugins to run beside the default ones; their order does not matter.',
    effect: ['in force', 'what the plugins below say of themselves'],
  },
  {
    name: 'disable-admission-plugins',
    type: 'list',
    values: PLUGINS,
    description: 'Admission plugins not to run although they do by default.',
    effect: ['in force', 'what the plugins below say of themselves'],
  },
  {
    name: 'admission-control-config-file',
    type: 'path',
    description: 'Settings of the admission plugins: an AdmissionConfiguration, YAML or JSON.',
    effect: ['in force', 'read and checked whole at the start, as are the files it names'],
  },
]);
