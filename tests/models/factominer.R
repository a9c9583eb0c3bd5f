# Data sets of FactoMineR and what it says of them, one CSV file each, with all digits.
suppressMessages(library(FactoMineR))
folder <- commandArgs(TRUE)[1]
kept <- function(x, name, what, names = FALSE)
  write.csv(format(as.data.frame(x), digits = 17, trim = TRUE), file.path(folder, paste0(name, "_", what, ".csv")),
            row.names = names, quote = TRUE)
rows <- function(name, X, m) {
  write.csv(X, file.path(folder, paste0(name, "_data.csv")), row.names = FALSE)
  kept(m$eig[, 1, drop = FALSE], name, "eigenvalues")
  kept(m$ind$coord, name, "rows")
}
data(poison); data(tea); data(hobbies); data(wine)

mca <- function(name, X, ...) {
  m <- MCA(X, ncp = 5, graph = FALSE, ...)
  rows(name, X, m)
  kept(cbind(m$var$coord, m$var$contrib, m$var$cos2, m$var$v.test), name, "levels", TRUE)
  kept(m$var$eta2, name, "eta2")
  if (!is.null(m$quali.sup)) {
    kept(m$quanti.sup$coord, name, "more_quantities")
    kept(cbind(m$quali.sup$coord, m$quali.sup$v.test), name, "more_levels")
    kept(m$quali.sup$eta2, name, "more_eta2")
  }
}
famd <- function(name, X) {
  m <- FAMD(X, ncp = 5, graph = FALSE)
  rows(name, X, m)
  kept(m$quanti.var$coord, name, "quantities")
  kept(cbind(m$quali.var$coord, m$quali.var$contrib, m$quali.var$cos2, m$quali.var$v.test), name, "levels", TRUE)
  kept(m$var$coord, name, "eta2")
}
mca("poison", poison, quanti.sup = 1:2, quali.sup = 3:4)
mca("tea", tea[, 1:18])
mca("hobbies", hobbies[, 1:18])
famd("wine", wine[, c(1, 2, 16, 22, 29, 28, 30, 31)])
famd("poison_mixed", poison)
famd("tea_mixed", tea[, 1:22])
