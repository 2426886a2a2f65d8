//! placeholder
use crate::app::App;
use std::sync::Arc;
/// x
pub fn router(_app: Arc<App>) -> axum::Router {
    axum::Router::new()
}
