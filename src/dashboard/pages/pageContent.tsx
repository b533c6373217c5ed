// Which component shows which page.
import { ContentionPage } from './contentionPage.js';
import { GraphPage } from './graphPage.js';
import { GroupsPage } from './groupsPage.js';
import { ErrorsPage, EventsPage } from './logPages.js';
import { LogsPage } from './logsPage.js';
import { MetricsPage } from './metricsPage.js';
import type { PageProps } from './pageProps.js';
import { ProfilePage } from './profilePage.js';
import { RunPage } from './runPage.js';
import { StatusPage } from './statusPage.js';
import { StreamPage } from './streamPage.js';
import { SummaryPage } from './summaryPage.js';
import { ActionsPage, ComputePage } from './tablePages.js';
import { BandwidthPage, MemoryPage, SystemPage } from './timePages.js';
import { WorkersPage } from './workersPage.js';

export function PageContent(props: PageProps) {
  switch (props.state.page.value) {
    case 'summary':
      return <SummaryPage {...props} />;
    case 'status':
      return <StatusPage {...props} />;
    case 'stream':
      return <StreamPage {...props} />;
    case 'run':
      return <RunPage {...props} />;
    case 'profile':
      return <ProfilePage {...props} />;
    case 'metrics':
      return <MetricsPage {...props} />;
    case 'compute':
      return <ComputePage {...props} />;
    case 'actions':
      return <ActionsPage {...props} />;
    case 'groups':
      return <GroupsPage {...props} />;
    case 'graph':
      return <GraphPage {...props} />;
    case 'workers':
      return <WorkersPage {...props} />;
    case 'memory':
      return <MemoryPage {...props} />;
    case 'bandwidth':
      return <BandwidthPage {...props} />;
    case 'contention':
      return <ContentionPage {...props} />;
    case 'system':
      return <SystemPage {...props} />;
    case 'events':
      return <EventsPage {...props} />;
    case 'errors':
      return <ErrorsPage {...props} />;
    case 'logs':
      return <LogsPage {...props} />;
  }
}
