// The components of the pages.
import type { FunctionComponent } from 'preact';
import { GraphPage } from './graphPage.js';
import { GroupsPage } from './groupsPage.js';
import { ErrorsPage, EventsPage, LogsPage } from './logPages.js';
import { MetricsPage } from './metricsPage.js';
import type { PageName } from './pageNames.js';
import type { PageProps } from './pageProps.js';
import { ProfilePage } from './profilePage.js';
import { StatusPage } from './statusPage.js';
import { RunPage, StreamPage } from './streamPage.js';
import { SummaryPage } from './summaryPage.js';
import { ActionsPage, ComputePage } from './tablePages.js';
import { BandwidthPage, ContentionPage, MemoryPage, SystemPage } from './timePages.js';
import { WorkersPage } from './workersPage.js';

const CONTENT: Readonly<Record<PageName, FunctionComponent<PageProps>>> = {
  summary: SummaryPage,
  status: StatusPage,
  stream: StreamPage,
  run: RunPage,
  profile: ProfilePage,
  metrics: MetricsPage,
  compute: ComputePage,
  actions: ActionsPage,
  groups: GroupsPage,
  graph: GraphPage,
  workers: WorkersPage,
  memory: MemoryPage,
  bandwidth: BandwidthPage,
  contention: ContentionPage,
  system: SystemPage,
  events: EventsPage,
  errors: ErrorsPage,
  logs: LogsPage,
};

export function PageContent(props: PageProps) {
  const Content = CONTENT[props.state.page.value];
  return <Content {...props} />;
}
